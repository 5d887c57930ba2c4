// Puts the program into a few files: hundreds of small modules take Node longer to open than to run.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { build, transform } from 'esbuild'

const outdir = 'apps/crosstie/bundle'
const target = 'node20.19'
await rm(outdir, { recursive: true, force: true })
const { outputFiles, metafile } = await build({
  entryPoints: ['apps/crosstie/dist/cli/main.js'],
  outdir,
  // Names change with what is inside, so that code which was kept for one is never taken for another.
  entryNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target,
  // As Node itself resolves them: taken as CommonJS, the AWS SDK loses its clients.
  mainFields: ['module', 'main'],
  minifyWhitespace: true,
  sourcemap: 'inline',
  sourcesContent: false,
  legalComments: 'external',
  logLevel: 'warning',
  metafile: true,
  write: false,
  plugins: [{ name: 'only what is used', setup: leaveOut }],
})

await mkdir(outdir, { recursive: true })
for (const { path, text } of outputFiles) {
  if (path.endsWith('.js')) await writeScript(path, text)
  else await writeFile(path, text)
}
const [main] = Object.entries(metafile.outputs).find(
  ([, { entryPoint }]) => entryPoint === 'apps/crosstie/dist/cli/main.js',
)
await writeFile(`${outdir}/package.json`, `${JSON.stringify({ type: 'commonjs', main: basename(main) })}\n`)
await runOnce()

/**
 * Of the official client we use how it reads a kubeconfig. It does not say that its modules do nothing by being loaded, so all of
 * Kubernetes' kinds would come along, 5 MB. And it brings a URL for a Node that has none, on a module that newer ones warn of.
 */
function leaveOut({ onResolve, onLoad, resolve }) {
  const client = /[\\/]@kubernetes[\\/]client-node[\\/]/
  onResolve({ filter: /./ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
    if (pluginData === 'seen' || (path !== '@kubernetes/client-node' && !client.test(importer))) return undefined
    const found = await resolve(path, { importer, kind, resolveDir, pluginData: 'seen' })
    return client.test(found.path) ? { ...found, sideEffects: false } : found
  })
  onResolve({ filter: /^whatwg-url$/ }, ({ path }) => ({ path, namespace: 'built in' }))
  onLoad({ filter: /./, namespace: 'built in' }, () => ({ contents: 'export default { URL }' }))
}

/** Parts are written as CommonJS: V8 keeps compiled code for scripts only, and Node loads them with less ado. */
async function writeScript(path, module) {
  const script = module
    // Parts ask for each other as scripts do. What users bring is imported, by bin/bundle.js: kept code cannot.
    .replaceAll(/\bimport\(("\.\/[\w-]+\.js")\)/g, 'Promise.resolve().then(()=>require($1))')
    .replaceAll(/\bimport\(/g, '__import(')
  const { code, map } = await transform(script, {
    format: 'cjs',
    platform: 'node',
    target,
    define: { 'import.meta.url': '__url' },
    minifyWhitespace: true,
    sourcemap: 'external',
    sourcesContent: false,
    logLevel: 'error',
  })
  const url = code.includes('__url') ? 'const __url=require("node:url").pathToFileURL(__filename).href;' : ''
  await writeFile(path, `${url}${code}//# sourceMappingURL=${basename(path)}.map\n`)
  await writeFile(`${path}.map`, map)
}

/** The program keeps what was compiled of it when it ends; then the first start is as fast as the others. */
async function runOnce() {
  const folder = await mkdtemp(join(tmpdir(), 'crosstie-build-'))
  const program = 'apps/crosstie/bin/crosstie.js'
  const args = ['up', '--providers', 'nop', '--listen', '127.0.0.1:0', '--data-dir', folder, '--log-level', 'error']
  const up = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(up, 'close')
  try {
    await Promise.race([printed(up.stdout, /^ +kinds /m), closed])
    const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig') }
    await promisify(execFile)(process.execPath, [program, 'get', 'namespaces'], { env })
  } catch (error) {
    console.warn(`the first start will be slower than the others: ${error.message}`)
  } finally {
    up.kill()
    await closed
    await rm(folder, { recursive: true, force: true })
  }
}

function printed(stream, wanted) {
  return new Promise((resolve) => {
    let text = ''
    stream.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      if (wanted.test(text)) resolve()
    })
  })
}
