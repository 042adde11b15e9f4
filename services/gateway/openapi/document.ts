import type { ZodOpenApiPathsObject, createDocument } from 'zod-openapi'
import type { Catalogue } from '#proto/catalogue.ts'
import { idpCookie, keyCookie } from '../auth/cookies.ts'
import type { Gateway } from '../gateway.ts'
import type { Route } from '../http-route.ts'
import { createOperation, createErrorResponses, getRouteTag } from './operation.ts'

type Document = ReturnType<typeof createDocument>

/** Returns a function that creates the OpenAPI 3.0 document once. The library is loaded on the first call. */
export const createDocumentLoader = (routes: readonly Route[], version: string): Gateway['document'] => {
  let document: Promise<Document> | undefined
  return async () => {
    document ??= createOnce(routes, version)
    return document
  }
}

const createOnce = async (routes: readonly Route[], version: string): Promise<Document> => {
  const { createDocument } = await import('zod-openapi')
  const tags = [...new Set(routes.map(getRouteTag))].toSorted()
  return createDocument(
    {
      openapi: '3.0.3',
      info: {
        title: 'Watchhouse',
        version,
        description: 'Monitors fleets of ClickHouse hosts. `hostId` selects one by its position in the list of hosts.',
        license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      },
      servers: [{ url: '/' }],
      tags: tags.map((name) => ({ name })),
      paths: pathsOf(routes),
      components: { securitySchemes, responses: createErrorResponses(routes) },
    },
    { override: ({ jsonSchema }) => allowNull(jsonSchema) },
  )
}

/** Adds null to nullable enums: in OpenAPI 3.0, `nullable` does not extend an `enum`. */
const allowNull = (schema: { nullable?: unknown; enum?: unknown[] | undefined }): void => {
  if (schema.nullable && schema.enum && !schema.enum.includes(null)) schema.enum = [...schema.enum, null]
}

const pathsOf = (routes: readonly Route[]): ZodOpenApiPathsObject =>
  Object.fromEntries(
    [...Map.groupBy(routes, ({ path }) => path)].map(([path, those]) => [
      path,
      Object.fromEntries(those.map((route) => [route.method.toLowerCase(), createOperation(route)])),
    ]),
  )

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key (`svc_`) or a token of the identity provider.' },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API key (`svc_`).' },
  keyCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: keyCookie,
    description: 'The API key of a user who signed in with it.',
  },
  session: { type: 'apiKey', in: 'cookie', name: idpCookie, description: 'A session of the identity provider.' },
  operator: { type: 'http', scheme: 'bearer', description: 'A secret of the operator, valid for this route only.' },
} as const

/** Adds the names of the current charts and tables as enums to the path parameters of their routes. */
export const addNameEnums = (
  document: Document,
  { charts, tables }: Pick<Catalogue, 'charts' | 'tables'>,
): Document => ({
  ...document,
  paths: Object.fromEntries(
    Object.entries(document.paths ?? {}).map(([path, item]) => {
      if (path.startsWith('/api/v1/charts/{name}')) return [path, withNameEnum(item, charts)]
      return [path, path.startsWith('/api/v1/tables/{name}') ? withNameEnum(item, tables) : item]
    }),
  ),
})

type PathItem = NonNullable<Document['paths']>[string]

const withNameEnum = (item: PathItem, named: readonly { name: string }[]): PathItem => {
  if (named.length === 0) return item
  const { get } = item
  const schema = { type: 'string' as const, enum: named.map(({ name }) => name) }
  const parameters = get?.parameters?.map((parameter) =>
    'name' in parameter && parameter.in === 'path' ? { ...parameter, schema } : parameter,
  )
  return { ...item, ...(get && { get: { ...get, ...(parameters && { parameters }) } }) }
}
