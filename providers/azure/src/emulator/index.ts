export { AzureEmulator, type EmulatorOptions, type Fault, type SeenRequest } from './server.js'

import { AzureEmulator } from './server.js'

/** Starts the emulator for `crosstie up --emulators azure`. */
export async function startEmulator() {
  const emulator = await AzureEmulator.start()
  return {
    summary: `Azure Resource Manager and Microsoft Graph at ${emulator.url}`,
    env: {
      CROSSTIE_AZURE_EMULATOR: emulator.url,
      CROSSTIE_AZURE_CREDENTIALS: JSON.stringify({ clientSecret: 'emulated' }),
    },
    [Symbol.asyncDispose]: () => emulator[Symbol.asyncDispose](),
  }
}
