import { createWriteStream, existsSync } from 'node:fs'
import { readFile, rename, rm, stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { BACKUP_PATH, readKubeconfig } from '@crosstie/apiserver'
import { ConnectionError } from '@crosstie/controller'
import { attempt } from '@crosstie/kube'
import { type Command, EXIT_OK, UsageError } from '../command.js'

/** The command `crosstie backup`. */
export const backup: Command = {
  name: 'backup',
  usage: 'crosstie backup FILE [--data-dir DIR | --kubeconfig FILE] [--with-keys]',
  summary: 'Take a consistent snapshot of a running server.',
  options: {
    'data-dir': {
      type: 'string',
      value: 'DIR',
      help: 'The data directory of the running server',
      default: '.crosstie',
    },
    kubeconfig: { type: 'string', value: 'FILE', help: 'How to reach the server (default DIR/kubeconfig)' },
    'with-keys': {
      type: 'boolean',
      help: 'Include the encryption keys. Everyone who can read the backup can then read the Secrets',
    },
  },
  async run({ values, words, signal, out, progress }) {
    const [file, ...rest] = words
    if (!file || rest.length > 0) throw new UsageError('name the one file to write the backup to')
    const target = resolve(file)
    const kubeconfig = resolve(String(values['kubeconfig'] ?? join(String(values['data-dir']), 'kubeconfig')))
    if (!existsSync(kubeconfig)) {
      throw new UsageError(
        `${kubeconfig} does not exist: name the data directory of the server with --data-dir, or use --kubeconfig`,
      )
    }
    const { revision, bytes } = await attempt(`back up the server of ${kubeconfig}`, () =>
      progress.during('taking a snapshot', () => download(kubeconfig, target, values['with-keys'] === true, signal)),
    )
    out(`wrote ${target}: revision ${revision}, ${bytes} bytes`)
    if (!values['with-keys']) {
      out('Secrets in it are encrypted: keep keys.json of the data directory too, or use --with-keys.')
    }
    return EXIT_OK
  },
}

/** Downloads to a temporary file and renames it when it is complete. */
async function download(kubeconfig: string, target: string, withKeys: boolean, signal: AbortSignal) {
  const access = readKubeconfig(await readFile(kubeconfig, 'utf8'))
  const { server, ca, client } = access
  const url = new URL(BACKUP_PATH + (withKeys ? '?keys=true' : ''), server)
  const options = { ca, cert: client.cert, key: client.key, signal, agent: false as const }
  const answer = await new Promise<IncomingMessage>((onAnswer, onError) =>
    request(url, options, onAnswer)
      .on('error', (cause) => onError(new ConnectionError(cause.message, { cause, sent: false })))
      .end(),
  )
  if (answer.statusCode !== 200) throw new Error(`the server answered ${answer.statusCode}: ${await textOf(answer)}`)
  const partial = `${target}.partial`
  try {
    await pipeline(answer, createWriteStream(partial, { mode: 0o600 }))
    const { size } = await stat(partial)
    const promised = Number(answer.headers['x-crosstie-bytes'])
    if (size !== promised) throw new Error(`only ${size} of ${promised} bytes arrived; try again`)
    await rename(partial, target)
    return { revision: String(answer.headers['x-crosstie-revision']), bytes: size }
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text
  } catch {
    return text
  }
}
