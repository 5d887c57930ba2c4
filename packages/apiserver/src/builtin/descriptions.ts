/** What `kubectl explain` says about a model, or about one of its fields. */
export function describe(_model: string, _field?: string): string | undefined {
  return undefined
}
