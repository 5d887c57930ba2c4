import fs from 'node:fs'

const call = (method, ...args) =>
  new Promise((resolve, reject) => method(...args, (error, result) => (error ? reject(error) : resolve(result))))

/** Returns the number of sequential durable writes of `bytes` per second, in space that was written before. */
export async function rawSync(path, bytes, seconds) {
  const size = Math.ceil(bytes / 4096) * 4096
  const blocks = Math.max(1, Math.floor((16 << 20) / size))
  fs.writeFileSync(path, Buffer.alloc(blocks * size))
  const file = fs.openSync(path, 'r+')
  fs.fsyncSync(file)
  const block = Buffer.alloc(size, 1)
  const start = performance.now()
  let count = 0
  while (performance.now() - start < seconds * 1000) {
    await call(fs.write, file, block, 0, size, (count++ % blocks) * size)
    await call(fs.fdatasync, file)
  }
  const rate = count / ((performance.now() - start) / 1000)
  fs.closeSync(file)
  fs.rmSync(path)
  return { rate }
}
