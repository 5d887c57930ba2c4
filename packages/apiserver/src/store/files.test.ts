import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { nodeFiles, writeAll } from './files.js'

test('a single in-place write has the same result as any other: the bytes at their position, or a rejection', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'files-'))
  try {
    const path = join(directory, 'log')
    const file = await nodeFiles.open(path, 'durable')
    const parts = Array.from({ length: 300 }, (_, i) => Buffer.from(`part ${i};`))
    let position = 0
    for (const [i, part] of parts.entries()) {
      await writeAll(file, part, position, i % 3 !== 0)
      position += part.length
    }
    assert.deepEqual(await readFile(path), Buffer.concat(parts))
    await file.close()
    const readOnly = await nodeFiles.open(path, 'read')
    for (const alone of [true, false]) {
      await assert.rejects(readOnly.write(parts[0]!, 0, alone), { code: 'EBADF' }, `alone: ${alone}`)
    }
    await readOnly.close()
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
