// Bundles the program into a few files, because Node opens hundreds of small modules slowly.
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
  // Names contain a hash of the content, so that the compile cache never mixes versions.
  entryNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target,
  // Resolved like Node: as CommonJS, the AWS SDK loses its clients.
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
 * Leaves out unused parts of the official Kubernetes client, of which only the kubeconfig loader is used. The
 * client does not declare its modules free of side effects, so the bundle would contain all Kubernetes kinds (5
 * MB). It also contains a URL polyfill on a module that newer Node versions warn about.
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

/** Writes a part as CommonJS: V8 caches compiled code only for scripts, and Node loads them faster. */
async function writeScript(path, module) {
  const script = module
    // Parts require each other. Modules of users are imported by bin/bundle.js, because cached code cannot import.
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

/** Runs the program once to fill its compile cache, so that the first start is as fast as later ones. */
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
