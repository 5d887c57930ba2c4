import { systemClock } from '@crosstie/kube'
import { AlreadyExistsError, defineProvider, ThrottledError } from '@crosstie/resources/provider'
import { type Cloud, thingOf } from '@crosstie/resources/testing'
import { CAPABILITIES, type Reply } from './cloud-service.js'

/** A client of the simulated cloud in the parent process. */
class RemoteCloud implements Cloud {
  readonly options = { ...CAPABILITIES, clock: systemClock }
  readonly create: Cloud['create'] = (wanted) => this.#call('create', wanted)
  readonly get: Cloud['get'] = (name) => this.#call('get', name)
  readonly list: Cloud['list'] = (tags = {}) => this.#call('list', tags)
  readonly update: Cloud['update'] = (...given) => this.#call('update', ...given)
  readonly delete: Cloud['delete'] = (name) => this.#call('delete', name)

  async #call<T>(call: string, ...given: readonly unknown[]): Promise<T> {
    const url = `${process.env['CLOUD_URL']}/${call}`
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(given) })
    const { result, error } = (await answer.json()) as Reply
    if (error?.name === 'AlreadyExistsError') throw new AlreadyExistsError(error.message)
    if (error?.name === 'ThrottledError') throw new ThrottledError(error.message)
    if (error) throw new Error(error.message)
    return result as T
  }
}

/** The provider of the simulated cloud. */
export const provider = defineProvider({
  name: 'cloud',
  summary: 'Things in the simulated cloud of another process.',
  kinds: [thingOf(new RemoteCloud(), { consistencySeconds: 0 })],
})
