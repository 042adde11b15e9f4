import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { Catalogue } from '#proto/catalogue.ts'
import { OpenApiDocument } from '#proto/http/openapi.ts'
import type { Gateway } from '../gateway.ts'

const file = new URL('document.json', import.meta.url)

/** Returns a function that reads the OpenAPI document once, with the version of the product. */
export const createDocumentLoader = (version: string): Gateway['document'] => {
  let document: Promise<OpenApiDocument> | undefined
  return async () => {
    document ??= read(version)
    return document
  }
}

const read = async (version: string): Promise<OpenApiDocument> => {
  const document = OpenApiDocument.parse(JSON.parse(await readFile(file, 'utf8')))
  return { ...document, info: { ...document.info, version } }
}

const NamedPath = z.looseObject({
  get: z.looseObject({
    parameters: z.array(z.looseObject({ name: z.string().optional(), $ref: z.string().optional() })),
  }),
})
const namePointer = '#/components/parameters/Name'

/** Adds the names of the current charts and tables as enums to the path parameters of their routes. */
export const addNameEnums = (
  document: OpenApiDocument,
  { charts, tables }: Pick<Catalogue, 'charts' | 'tables'>,
): OpenApiDocument => {
  const paths = { ...document.paths }
  for (const [path, named] of [
    ['/api/v1/charts/{name}', charts],
    ['/api/v1/tables/{name}', tables],
  ] as const) {
    const item = NamedPath.parse(paths[path])
    if (named.length > 0)
      paths[path] = withNameEnum(
        item,
        named.map(({ name }) => name),
      )
  }
  return { ...document, paths }
}

const withNameEnum = ({ get, ...item }: z.infer<typeof NamedPath>, names: readonly string[]) => ({
  ...item,
  get: {
    ...get,
    parameters: get.parameters.map((parameter) =>
      parameter.name === 'name' || parameter.$ref === namePointer
        ? { in: 'path', name: 'name', required: true, schema: { type: 'string', enum: names }, example: names[0] }
        : parameter,
    ),
  },
})
