import type { Command } from './command.js'

type Load = () => Promise<Command>

/** All commands, by what people want of them. Loaded when asked for: `crosstie get` need not read a database engine. */
export const sections: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Run a control plane': {
    up: async () => (await import('./commands/up.js')).up,
    controllers: async () => (await import('./commands/controllers.js')).controllers,
    manifests: async () => (await import('./commands/manifests.js')).manifests,
    backup: async () => (await import('./commands/backup.js')).backup,
    restore: async () => (await import('./commands/restore.js')).restore,
  },
  'Work with objects': {
    apply: async () => (await import('./commands/apply.js')).apply,
    get: async () => (await import('./commands/get.js')).get,
    describe: async () => (await import('./commands/describe.js')).describe,
    delete: async () => (await import('./commands/delete.js')).remove,
    wait: async () => (await import('./commands/wait.js')).wait,
    events: async () => (await import('./commands/events.js')).events,
  },
  'Look before you leap': {
    plan: async () => (await import('./commands/plan.js')).plan,
    approve: async () => (await import('./commands/approve.js')).approve,
    drift: async () => (await import('./commands/drift.js')).drift,
  },
  'Understand infrastructure': {
    trace: async () => (await import('./commands/trace.js')).trace,
    connection: async () => (await import('./commands/connection.js')).connection,
    pause: async () => (await import('./commands/pause.js')).pause,
    resume: async () => (await import('./commands/pause.js')).resume,
    discover: async () => (await import('./commands/discover.js')).discover,
    promote: async () => (await import('./commands/promote.js')).promote,
    migrate: async () => (await import('./commands/migrate.js')).migrate,
  },
  'Find out more': {
    kinds: async () => (await import('./commands/kinds.js')).kinds,
    explain: async () => (await import('./commands/explain.js')).explain,
    completion: async () => (await import('./commands/completion.js')).completion,
    version: async () => (await import('./commands/version.js')).version,
  },
}

export const commands: Readonly<Record<string, Load>> = Object.assign({}, ...Object.values(sections))
