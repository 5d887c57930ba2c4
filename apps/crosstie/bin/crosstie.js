#!/usr/bin/env node
const { statSync } = require('node:fs')
const { join } = require('node:path')

// The bundle starts several times faster. In a working tree that was compiled
// since, it is out of date: then the compiled modules run as they are.
const compiled = [
  'apps/crosstie',
  'packages/cel',
  'packages/kube',
  'packages/apiserver',
  'packages/controller',
  'packages/resources',
  'providers/aws',
  'providers/azure',
  'providers/gcp',
  'providers/kubernetes',
  'providers/nop',
  'providers/sql',
  'providers/terraform',
]
const timeOf = (...path) => statSync(join(__dirname, ...path), { throwIfNoEntry: false })?.mtimeMs ?? 0
const newest = Math.max(...compiled.map((folder) => timeOf('../../..', folder, 'tsconfig.tsbuildinfo')))

run(process.argv.slice(2))

async function run(args) {
  if (timeOf('../bundle/package.json') <= newest) {
    const { main } = await import('../dist/cli/main.js')
    process.exitCode = await main(args)
    return
  }
  const { Bundle } = require('./bundle.js')
  const bundle = new Bundle(join(__dirname, '../bundle'), args[0])
  process.exitCode = await bundle.main().main(args)
  bundle.keepCode()
}
