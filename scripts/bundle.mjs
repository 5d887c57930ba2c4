// Puts the program into a few files: hundreds of small modules take Node longer to open than to run.
import { rm } from 'node:fs/promises'
import { build } from 'esbuild'

const outdir = 'apps/crosstie/bundle'
await rm(outdir, { recursive: true, force: true })
await build({
  entryPoints: ['apps/crosstie/dist/main.js'],
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // As Node itself resolves them: taken as CommonJS, the AWS SDK loses its clients.
  mainFields: ['module', 'main'],
  sourcemap: 'linked',
  sourcesContent: false,
  minifyWhitespace: true,
  legalComments: 'external',
  logLevel: 'warning',
  // Packages written for CommonJS ask for Node's own modules by `require`.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
})
