import { storeContract } from './contract.js'
import { MemoryStore } from './memory.js'

storeContract('memory', async () => new MemoryStore())
