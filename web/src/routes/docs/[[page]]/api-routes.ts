/** One route as the description of the API tells it. */
export interface ApiRoute {
  method: string
  path: string
  summary: string
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

/** The routes of an OpenAPI document, in the order of their paths. */
export const routesOf = (paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>): ApiRoute[] =>
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
