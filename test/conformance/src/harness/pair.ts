import { Unavailable } from '../oracle/binaries.js'
import { Case, type CaseOptions, randomId, type Step } from './case.js'
import { differences } from './normalize.js'
import { openTarget, startEmbedded, type Target } from './target.js'

/** The embedded and the real server, which must return the same responses. */
export class Pair {
  private constructor(
    readonly embedded: Target,
    readonly oracle: Target,
  ) {}

  /** Starts both servers. Returns the reason if the real one is unavailable. */
  static async open(): Promise<Pair | string> {
    try {
      // An already running server saves the time to start one.
      const oracle = await openTarget(process.env['DIFFERENTIAL_ORACLE'] ?? 'oracle')
      return new Pair(await startEmbedded(), oracle)
    } catch (error) {
      if (error instanceof Unavailable) return error.message
      throw error
    }
  }

  /**
   * Runs the same steps on both servers and throws on differences. Names are equal on both, so bodies may contain
   * them.
   */
  async same(run: (t: Case) => Promise<void>, options: CaseOptions = {}): Promise<void> {
    const id = randomId()
    const [mine, real] = await Promise.all(
      [this.embedded, this.oracle].map((target) => stepsOf(new Case(target, { ...options, id }), run)),
    )
    const complaints = mine!.flatMap((step, index) => {
      const found = differences(real![index], step)
      return found.length > 0 ? [`${step.step}\n  ${found.join('\n  ')}`] : []
    })
    if (complaints.length > 0)
      throw new Error(`expected as the real server, got as the embedded one:\n${complaints.join('\n')}`)
  }

  async close(): Promise<void> {
    await Promise.all([this.embedded.stop(), this.oracle.stop()])
  }
}

async function stepsOf(t: Case, run: (t: Case) => Promise<void>): Promise<Step[]> {
  try {
    await run(t)
  } finally {
    await t.end()
  }
  return JSON.parse(JSON.stringify(t.steps)) as Step[]
}
