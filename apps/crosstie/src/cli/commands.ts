import type { Command } from './command.js'

type Load = () => Promise<Command>

/** All commands by section. They are loaded on demand: `crosstie get` does not load the database engine. */
export const sections: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Run a control plane': {
    up: async () => (await import('./up/command.js')).up,
    controllers: async () => (await import('./controllers/command.js')).controllers,
    manifests: async () => (await import('./manifests/command.js')).manifests,
    backup: async () => (await import('./backup/command.js')).backup,
    restore: async () => (await import('./restore/command.js')).restore,
  },
  'Work with objects': {
    apply: async () => (await import('./apply/command.js')).apply,
    get: async () => (await import('./get/command.js')).get,
    describe: async () => (await import('./describe/command.js')).describe,
    delete: async () => (await import('./delete/command.js')).remove,
    wait: async () => (await import('./wait/command.js')).wait,
    events: async () => (await import('./events/command.js')).events,
  },
  'Plan and review changes': {
    plan: async () => (await import('./plan/command.js')).plan,
    approve: async () => (await import('./approve/command.js')).approve,
    drift: async () => (await import('./drift/command.js')).drift,
  },
  'Understand infrastructure': {
    trace: async () => (await import('./trace/command.js')).trace,
    connection: async () => (await import('./connection/command.js')).connection,
    pause: async () => (await import('./pause/command.js')).pause,
    resume: async () => (await import('./pause/command.js')).resume,
    discover: async () => (await import('./discover/command.js')).discover,
    promote: async () => (await import('./promote/command.js')).promote,
    migrate: async () => (await import('./migrate/command.js')).migrate,
  },
  'Other commands': {
    kinds: async () => (await import('./kinds/command.js')).kinds,
    explain: async () => (await import('./explain/command.js')).explain,
    completion: async () => (await import('./completion/command.js')).completion,
    version: async () => (await import('./version/command.js')).version,
  },
}

/** All commands by name. */
export const commands: Readonly<Record<string, Load>> = Object.assign({}, ...Object.values(sections))
