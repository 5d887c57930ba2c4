const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { setFlagsFromString } = require('node:v8')
const { Script } = require('node:vm')

const BEFORE = '(function(exports,require,module,__filename,__import){'
const AFTER = '\n})'

/**
 * The parts of the program, each read when another part asks for it.
 *
 * What V8 compiles of them is kept beside them when a command has ended, and
 * taken from there by the next run of that command: compiling is most of what a
 * start costs. V8 refuses code of another version or of other flags, and a folder
 * that may not be written to only costs the time; then they are compiled again.
 */
exports.Bundle = class Bundle {
  #folder
  #code
  #parts = new Map()
  #taken = false

  /** @param {string} folder @param {string | undefined} command */
  constructor(folder, command) {
    this.#folder = folder
    const name = /^[a-z]+$/.test(command ?? '') ? command : 'help'
    this.#code = join(folder, 'code', `${process.versions.v8}-${process.arch}`, name)
  }

  main() {
    const { main } = JSON.parse(readFileSync(join(this.#folder, 'package.json'), 'utf8'))
    return this.#load(main)
  }

  #load(name) {
    const known = this.#parts.get(name)
    if (known) return known.module.exports
    const filename = join(this.#folder, name)
    // The bundler writes ASCII only, and so it takes V8 one byte a character.
    const source = `${BEFORE}${readFileSync(filename, 'latin1')}${AFTER}`
    usualFlags()
    const script = new Script(source, {
      filename,
      columnOffset: -BEFORE.length,
      cachedData: this.#keptCode(name),
    })
    // If the code of the first is accepted, so is that of the others, except for parts that only some runs load.
    if (this.#parts.size === 0) this.#taken = script.cachedDataRejected === false
    const module = { exports: {} }
    this.#parts.set(name, { script, module })
    const find = (id) => (id.startsWith('./') ? this.#load(id.slice(2)) : require(id))
    find.resolve = require.resolve
    script.runInThisContext()(module.exports, find, module, filename, (id) => import(id))
    return module.exports
  }

  #keptCode(name) {
    try {
      return readFileSync(join(this.#code, name))
    } catch {
      return undefined // No code is cached yet.
    }
  }

  /** Caches the code for the next run. A run with flags of its own does not, since its code may not be usable for others. */
  keepCode() {
    if (this.#taken || process.execArgv.length > 0) return
    usualFlags()
    try {
      mkdirSync(this.#code, { recursive: true })
      // The first is written last: if it exists, all exist.
      for (const [name, { script }] of [...this.#parts].reverse()) {
        writeWhole(join(this.#code, name), script.createCachedData())
      }
    } catch {
      // The folder is not writable. The program works without the cache.
    }
  }
}

/** Restores the flags under which V8 accepts cached code. The program changes them while it runs. */
function usualFlags() {
  setFlagsFromString('--semi-space-growth-factor=2')
  setFlagsFromString('--heap-growing-percent=0')
}

/** Writes a file completely or not at all, even if the power fails. */
function writeWhole(file, bytes) {
  const next = `${file}.${process.pid}`
  writeFileSync(next, bytes, { flush: true })
  renameSync(next, file)
}
