import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { startProduct } from '../../testing/product.ts'
import { clientCalls } from './calls.ts'
import {
  type CheckClient,
  checkGo,
  checkOpenApiTypeScript,
  checkPython,
  checkTypeScriptFetch,
  type FindOperation,
} from './generators.ts'

const Document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        operationId: z.string(),
        tags: z.tuple([z.string()]),
        parameters: z.array(z.looseObject({ in: z.string().optional() })).default([]),
      }),
    ),
  ),
})

/** All generators by name. They need npm, Java, Python and Go, and their package registries. */
const createChecks = (find: FindOperation): Readonly<Record<string, CheckClient>> => ({
  'openapi-typescript': checkOpenApiTypeScript(find),
  'typescript-fetch': checkTypeScriptFetch(find),
  python: checkPython(find),
  go: checkGo(find),
})

/**
 * Starts the product, generates clients from the OpenAPI document that it serves, compiles them, and sends requests
 * with each. Fails if any of this fails. Arguments select generators.
 */
const main = async (named: readonly string[]): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-clients-'))
  await using product = await startProduct()
  const served = await fetch(`${product.url}/api/v1/openapi.json`)
  const text = await served.text()
  const file = join(directory, 'openapi.json')
  await writeFile(file, text)
  const { paths } = Document.parse(JSON.parse(text))
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId: id, tags, parameters }]) => {
      const hasParameters = parameters.some((parameter) => parameter.in !== 'path')
      return { id, method, path, tag: tags[0], hasParameters }
    }),
  )
  const find: FindOperation = (id) => {
    const operation = operations.find((each) => each.id === id)
    if (operation === undefined) throw new Error(`the document has no operation ${id}`)
    return operation
  }
  for (const [name, check] of Object.entries(createChecks(find))) {
    if (named.length > 0 && !named.includes(name)) continue
    const folder = join(directory, name)
    await mkdir(folder)
    await copyFile(file, join(folder, 'openapi.json'))
    try {
      await check(folder, product.url)
      print(`${name}: compiles, and ${clientCalls.length} calls succeed`)
    } catch (error) {
      print(`${name} failed: ${error instanceof Error ? error.message : String(error)}`)
      process.exitCode = 1
    }
  }
  await rm(directory, { recursive: true })
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

await main(process.argv.slice(2))
