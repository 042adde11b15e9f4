/** A route in the OpenAPI document. */
export interface ApiRoute {
  method: string
  path: string
  summary: string
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

/** Returns the routes of an OpenAPI document, sorted by path. */
export const listApiRoutes = (paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>): ApiRoute[] =>
  Object.entries(paths)
    .toSorted(([one], [other]) => one.localeCompare(other, 'en'))
    .flatMap(([path, operations]) =>
      methods.flatMap((method) => {
        const operation = operations[method]
        return operation === undefined ? [] : [{ method: method.toUpperCase(), path, summary: summaryOf(operation) }]
      }),
    )

const summaryOf = (operation: unknown): string =>
  typeof operation === 'object' && operation !== null && 'summary' in operation ? String(operation.summary) : ''
