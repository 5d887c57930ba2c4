/** An answer of Azure that is an error. */
export class Problem extends Error {
  override readonly name = 'Problem'

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
  }

  get body(): object {
    return { error: { code: this.code, message: this.message } }
  }
}

export const badRequest = (code: string, message: string): Problem => new Problem(400, code, message)

export const conflict = (code: string, message: string): Problem => new Problem(409, code, message)

export const noGroup = (group: string): Problem =>
  new Problem(404, 'ResourceGroupNotFound', `Resource group '${group}' could not be found.`)
