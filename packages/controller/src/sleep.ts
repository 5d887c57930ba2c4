import { setMaxListeners } from 'node:events'

/** Waits for the given time, or until the signal aborts. Never rejects. With `background` it does not keep the process alive. */
export function sleep(milliseconds: number, signal?: AbortSignal, background = false): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve()
      return
    }
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    if (background) timer.unref()
    signal?.addEventListener('abort', end)
  })
}

/** Creates an AbortController for many listeners: Node warns of a leak at more than ten unless the limit is raised. */
export function sharedAbortController(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}
