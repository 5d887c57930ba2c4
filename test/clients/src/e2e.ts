import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { capture, program } from '@crosstie/test-conformance'

/** An end-to-end spec of Kubernetes. */
export interface Spec {
  readonly name: string
  /** The duration on the real server. Long specs start first, and quick runs skip them. */
  readonly seconds: number
  /** A kind or server that the spec requires and the embedded server omits by design. */
  readonly needs?: string
}

/** The outcome of a spec. */
export interface Outcome {
  readonly name: string
  readonly state: 'passed' | 'failed' | 'skipped'
  readonly seconds: number
  readonly message: string
}

const data = join(dirname(fileURLToPath(import.meta.url)), '../e2e/specs.json')

/** Returns the specs that pass on a real kube-apiserver without nodes. */
export function readSpecs(file = data): Spec[] {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Runs specs on the server of a kubeconfig. Specs that tolerate concurrency run in several processes. */
export async function runSpecs(kubeconfig: string, specs: readonly Spec[], processes = 3): Promise<Outcome[]> {
  const test = await program('e2e.test')
  const kubectl = await program('kubectl')
  const run = (shard: readonly Spec[]) => runShard({ test, kubectl, kubeconfig }, shard)
  const alone = specs.filter(({ name }) => name.includes('[Serial]'))
  const others = specs.filter(({ name }) => !name.includes('[Serial]'))
  const outcomes = (await Promise.all(shardsOf(others, processes).map(run))).flat()
  return [...outcomes, ...(await run(alone))]
}

/** Distributes specs so that all shards take about the same time. */
function shardsOf(specs: readonly Spec[], count: number): Spec[][] {
  const shards = Array.from({ length: count }, () => ({ seconds: 0, specs: [] as Spec[] }))
  for (const spec of [...specs].sort((a, b) => b.seconds - a.seconds)) {
    const shortest = shards.reduce((a, b) => (b.seconds < a.seconds ? b : a))
    shortest.specs.push(spec)
    shortest.seconds += spec.seconds + 1
  }
  return shards.map((shard) => shard.specs)
}

interface Suite {
  readonly test: string
  readonly kubectl: string
  readonly kubeconfig: string
}

async function runShard({ test, kubectl, kubeconfig }: Suite, specs: readonly Spec[]): Promise<Outcome[]> {
  if (specs.length === 0) return []
  const dir = mkdtempSync(join(tmpdir(), 'crosstie-e2e-'))
  try {
    const report = join(dir, 'report.json')
    const args = [
      `--kubeconfig=${kubeconfig}`,
      `--kubectl-path=${kubectl}`,
      '--provider=skeleton',
      '--dump-logs-on-failure=false',
      `--ginkgo.focus=(${specs.map(({ name }) => literal(name)).join('|')})$`,
      '--ginkgo.no-color',
      '--ginkgo.succinct',
      `--ginkgo.json-report=${report}`,
    ]
    const { stdout, stderr } = await capture(test, args, { env: { ...process.env, KUBECONFIG: kubeconfig } })
    if (existsSync(report)) return outcomesOf(specs, report)
    // One spec crashed the process. Bisection finds the others.
    if (specs.length === 1)
      return [{ name: specs[0]!.name, state: 'failed', seconds: 0, message: stdout.slice(-2_000) + stderr }]
    const half = Math.ceil(specs.length / 2)
    const suite = { test, kubectl, kubeconfig }
    return [...(await runShard(suite, specs.slice(0, half))), ...(await runShard(suite, specs.slice(half)))]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Returns a regular expression that matches only the text. */
const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

interface Report {
  readonly SpecReports: readonly {
    readonly ContainerHierarchyTexts: readonly string[] | null
    readonly LeafNodeText: string
    readonly LeafNodeType: string
    readonly State: string
    readonly RunTime: number
    readonly Failure?: { readonly Message: string; readonly Location?: { FileName: string; LineNumber: number } }
  }[]
}

function outcomesOf(specs: readonly Spec[], file: string): Outcome[] {
  const reports: readonly Report[] = JSON.parse(readFileSync(file, 'utf8'))
  const found = new Map<string, Outcome>()
  for (const spec of reports.flatMap(({ SpecReports }) => SpecReports)) {
    if (spec.LeafNodeType !== 'It') continue
    const name = [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' ')
    const { Message: message = '', Location: at } = spec.Failure ?? {}
    found.set(name, {
      name,
      state: spec.State === 'passed' ? 'passed' : spec.State === 'skipped' ? 'skipped' : 'failed',
      seconds: Math.round(spec.RunTime / 1e8) / 10,
      message: at && message ? `${message} (${at.FileName.replace(/.*\/test\/e2e\//, '')}:${at.LineNumber})` : message,
    })
  }
  return specs.map(
    ({ name }) => found.get(name) ?? { name, state: 'failed', seconds: 0, message: 'there is no such spec' },
  )
}
