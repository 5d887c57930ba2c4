#!/usr/bin/env node
import { statSync } from 'node:fs'

// The bundle starts several times faster. In a working tree that was compiled
// since, it is out of date: then the compiled modules run as they are.
const bundle = new URL('../bundle/main.js', import.meta.url)
const compiled = [
  'apps/crosstie',
  'packages/kube',
  'packages/apiserver',
  'packages/controller',
  'packages/resources',
  'providers/aws',
  'providers/kubernetes',
  'providers/nop',
  'providers/sql',
]
const timeOf = (path) => statSync(new URL(path, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0
const newest = Math.max(...compiled.map((folder) => timeOf(`../../../${folder}/tsconfig.tsbuildinfo`)))
const { main } = await import(timeOf('../bundle/main.js') > newest ? bundle.href : '../dist/main.js')

process.exitCode = await main(process.argv.slice(2))
