import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { storeContract } from './contract.js'
import { openStore } from './durable.js'

const home = fs.mkdtempSync(join(os.tmpdir(), 'crosstie-store-'))
after(() => fs.rmSync(home, { recursive: true, force: true }))
let stores = 0

storeContract('durable', () => openStore({ dataDir: join(home, String(stores++)) }))
