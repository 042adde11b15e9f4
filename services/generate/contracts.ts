import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { Identity } from '#proto/call.ts'
import type { BusEvent, Method, Service } from '#proto/contract.ts'
import { SealedConnection } from '#proto/sealed-connection.ts'
import { root } from '../testing/source-file.ts'

/** Bus contracts by method or event, with their callers or publishers, and the JSON Schemas of their messages. */
export type Contracts = Record<string, unknown>

/**
 * The file with the last release and its contracts, one per line. The path is relative to the root of the repository.
 */
export const releasedContractsPath = 'services/generate/contracts.jsonl'

/** Reads the version of the last release and its contracts. */
export const readLastRelease = async (): Promise<{ version: string; contracts: Contracts }> => {
  const [first = '', ...lines] = (await readFile(join(root, releasedContractsPath), 'utf8')).trimEnd().split('\n')
  const { release } = z.object({ release: z.string() }).parse(JSON.parse(first))
  const contract = z.record(z.string(), z.unknown())
  const contracts = Object.fromEntries(lines.flatMap((line) => Object.entries(contract.parse(JSON.parse(line)))))
  return { version: release, contracts }
}

/** Returns the contracts that `proto/` declares in the working tree. */
export const readCurrentContracts = async (): Promise<Contracts> => {
  const declared: Contracts = { identity: schemaOf(Identity), 'sealed-connection': schemaOf(SealedConnection) }
  for (const exported of await importProtoExports()) {
    if (isService(exported)) {
      for (const [name, method] of Object.entries(exported.methods)) {
        declared[`${exported.name}.${name}`] = methodOf(method)
      }
    }
    if (isEvent(exported)) {
      declared[`event.${exported.name}`] = { publishers: exported.publishers, payload: schemaOf(exported.payload) }
    }
  }
  return declared
}

/** Imports all files of `proto/` and returns their exports, sorted by file name. */
export const importProtoExports = async (): Promise<unknown[]> => {
  const files = (await readdir(join(root, 'proto'))).filter((file) => /^[\w-]+(?<!\.test)\.ts$/.test(file)).toSorted()
  const modules = await Promise.all(files.map((file) => import(join(root, 'proto', file))))
  return modules.flatMap((module) => Object.values<unknown>(module))
}

/** Returns the current version and its contracts in the format of `contracts.jsonl`. */
export const formatReleaseLines = async (): Promise<string> => {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  const contracts = Object.entries(await readCurrentContracts()).map(([name, contract]) => ({ [name]: contract }))
  return [{ release: version }, ...contracts].map((line) => `${JSON.stringify(line)}\n`).join('')
}

const methodOf = (method: Method) => {
  const { kind, callers, exact, input } = method
  const answer =
    method.kind === 'rpc'
      ? { output: schemaOf(method.output) }
      : { head: schemaOf(method.head), frames: framesOf(method.frames), tail: schemaOf(method.tail) }
  return { kind, callers, ...(exact && { exact }), input: schemaOf(input), ...answer }
}

const framesOf = (frames: Extract<Method, { kind: 'stream' }>['frames']) =>
  frames.kind === 'json' ? schemaOf(frames.schema) : frames.kind

/** Returns the JSON Schema of the input that a schema accepts; fields with a default are optional. */
const schemaOf = (schema: z.ZodType): unknown => {
  const { $schema: _dialect, ...said } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return said
}

/** Returns whether an export of `proto/` is the contract of a service. */
export const isService = (exported: unknown): exported is Service =>
  typeof exported === 'object' && exported !== null && 'methods' in exported

/** Returns whether an export of `proto/` declares an event. */
export const isEvent = (exported: unknown): exported is BusEvent =>
  typeof exported === 'object' && exported !== null && 'kind' in exported && exported.kind === 'event'
