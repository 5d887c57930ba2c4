import { Unavailable } from '../oracle/binaries.js'
import { Case, type CaseOptions, randomId, type Step } from './case.js'
import { differences } from './normalize.js'
import { openTarget, startEmbedded, type Target } from './target.js'

/** Two servers that must say the same: the embedded one and the real one. */
export class Pair {
  private constructor(
    readonly embedded: Target,
    readonly oracle: Target,
  ) {}

  /** Starts both; what is returned is why it cannot be when the real one cannot be had here. */
  static async open(): Promise<Pair | string> {
    try {
      // A real server that runs already saves the time to start one.
      const oracle = await openTarget(process.env['DIFFERENTIAL_ORACLE'] ?? 'oracle')
      return new Pair(await startEmbedded(), oracle)
    } catch (error) {
      if (error instanceof Unavailable) return error.message
      throw error
    }
  }

  /** Runs the same steps on both and throws what differs. Names are the same on both, so bodies may contain them. */
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
