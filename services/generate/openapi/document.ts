import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type ZodOpenApiPathsObject, createDocument } from 'zod-openapi'
import type { Route } from '../../gateway/http-route.ts'
import { routes } from '../../gateway/routes.ts'
import { root } from '../../testing/source-file.ts'
import { anyKeyword, exportNameKeyword, toPascal } from './components.ts'
import { type OperationExample, readExamples } from './examples.ts'
import { type Json, toJson } from './json.ts'
import { nameComponents } from './name-components.ts'
import { createOperation } from './operation.ts'
import { findOperation, operationGroups } from './operation-names.ts'
import { createSharedResponses } from './responses.ts'
import { headerParameters, headers, securitySchemes } from './shared-parts.ts'
import { simplifySchema } from './simplify-schema.ts'

const description = `Monitors fleets of ClickHouse hosts.

- **Responses.** A successful JSON response is \`{success: true, data, metadata}\`, a failed one \`{success: false, error, metadata}\`. Operations whose format a standard or the specification of the service fixes differ, as their schemas show.
- **Hosts.** \`hostId\` is the position of a host in the list of hosts, and \`host\` is its name. Negative ids are stored connections of the caller.
- **Times.** Times are RFC 3339 date-times in UTC. Fields that end with \`Ms\` are durations in milliseconds, or deprecated epoch milliseconds.
- **Pages.** Lists accept \`limit\` and \`cursor\`. \`metadata.nextCursor\` is the cursor of the next page, and null on the last one.
- **Requests.** Every response has an \`X-Request-Id\`, which the request can choose. Rate-limited operations return \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`.`

/** Returns the generated OpenAPI document, which the gateway serves. */
export const generateOpenApiDocument = async () => ({
  path: 'services/gateway/openapi/document.json',
  isUnformatted: true,
  content: formatDocument(await createOpenApiDocument(routes)),
})

/** Creates the OpenAPI 3.0 document of the routes. Every shape is a named component. */
const createOpenApiDocument = async (routes: readonly Route[]): Promise<Json> => {
  const examples = await readExamples()
  const exportNames = await readExportNames()
  const inlined = createDocument(
    {
      openapi: '3.0.3',
      info: {
        title: 'Watchhouse',
        // The product serves its own version.
        version: '0.0.0',
        description,
        license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
        contact: { name: 'Watchhouse', url: 'https://github.com/watchhouse/watchhouse' },
      },
      servers: [{ url: '/' }],
      tags: operationGroups.map(({ tag: name, description }) => ({ name, description })),
      security: [{ bearer: [] }, { apiKey: [] }, { keyCookie: [] }, { session: [] }, {}],
      paths: pathsOf(routes, examples),
      components: {
        securitySchemes,
        headers,
        parameters: headerParameters,
        responses: createSharedResponses(routes),
      },
    },
    {
      override: ({ zodSchema, jsonSchema, io }) => {
        // A schema of any JSON refers to itself, which not all generators of clients support.
        if (zodSchema instanceof z.core.$ZodLazy) jsonSchema[anyKeyword] = true
        simplifySchema(jsonSchema, io)
        const name = exportNames.get(zodSchema)
        if (name !== undefined) jsonSchema[exportNameKeyword] = name
      },
    },
  )
  const values = new Map(
    routes.map((route) => [
      toPascal(findOperation(route).id),
      examples.get(`${route.method} ${route.path}`)?.parameters,
    ]),
  )
  return nameComponents(inlined, (operation) => values.get(operation))
}

const pathsOf = (routes: readonly Route[], examples: ReadonlyMap<string, OperationExample>): ZodOpenApiPathsObject =>
  Object.fromEntries(
    [...Map.groupBy(inOrder(routes), ({ path }) => path)].map(([path, those]) => [
      path,
      Object.fromEntries(
        those.map((route) => [
          route.method.toLowerCase(),
          createOperation(route, examples.get(`${route.method} ${path}`)),
        ]),
      ),
    ]),
  )

/** Sorts routes as `operationGroups` lists them. */
const inOrder = (routes: readonly Route[]): Route[] => {
  const order = operationGroups.flatMap(({ operations }) => Object.keys(operations))
  const place = ({ method, path }: Route) => order.indexOf(`${method} ${path}`)
  return routes.toSorted((left, right) => place(left) - place(right))
}

/** Returns the export names of the schemas of `proto/`, by schema. */
const readExportNames = async (): Promise<ReadonlyMap<unknown, string>> => {
  const names = new Map<unknown, string>()
  for (const folder of ['proto/http', 'proto']) {
    for (const file of (await readdir(join(root, folder))).toSorted()) {
      if (!/^[\w-]+(?<!\.test)\.ts$/.test(file)) continue
      const exported: Record<string, unknown> = await import(join(root, folder, file))
      for (const [name, value] of Object.entries(exported))
        if (value instanceof z.ZodType && /^[A-Z]/.test(name) && !names.has(value)) names.set(value, name)
    }
  }
  return names
}

/** Returns the document as text with one line per operation and component, so that changes are readable. */
const formatDocument = ({ paths, components, ...rest }: Json): string => {
  const lines = (object: Json, indent: string): string =>
    Object.entries(object)
      .map(([key, value]) => `${indent}${JSON.stringify(key)}: ${JSON.stringify(value)}`)
      .join(',\n')
  const nested = (object: Json): string =>
    Object.entries(object)
      .map(([key, value]) => `    ${JSON.stringify(key)}: {\n${lines(toJson(value), '      ')}\n    }`)
      .join(',\n')
  return `{\n${lines(rest, '  ')},\n  "paths": {\n${nested(toJson(paths))}\n  },\n  "components": {\n${nested(toJson(components))}\n  }\n}\n`
}
