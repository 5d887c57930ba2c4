// Loaded before a test file (node --import): writes the CPU seconds of the process to file descriptor 3 when it ends.
import { writeSync } from 'node:fs'

process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  try {
    writeSync(3, String((user + system) / 1e6))
  } catch {
    // A process that the test started does not inherit the descriptor.
  }
})
