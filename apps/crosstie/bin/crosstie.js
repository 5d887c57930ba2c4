#!/usr/bin/env node
import { existsSync } from 'node:fs'

// The bundle starts several times faster; a tree that was only compiled has none.
const bundle = new URL('../bundle/main.js', import.meta.url)
const { main } = await import(existsSync(bundle) ? bundle.href : '../dist/main.js')

process.exitCode = await main(process.argv.slice(2))
