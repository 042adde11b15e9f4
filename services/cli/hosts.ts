import { Option } from 'commander'
import type { RouteData } from '#proto/http/route.ts'
import type { Client } from '../client/client.ts'
import { RequestError } from '../client/failure.ts'
import { createUsageError, toExitCode } from './exit-codes.ts'
import type { Output } from './output/output.ts'

/** A monitored host. */
export type HostEntry = RouteData<'GET /api/v1/hosts'>[number]

/** Options that select hosts. */
export interface HostOptions {
  host?: string[]
  all?: boolean
}

const collect = (value: string, previous: string[] = []): string[] => [...previous, value]

/** Returns the option for one or several hosts. */
export const hostOption = (): Option =>
  new Option('--host <name>', 'name or id of a host; can be repeated').argParser(collect)

/** Returns the option for all hosts. */
export const allOption = (): Option => new Option('--all', 'all hosts').conflicts('host')

/** Returns the selected hosts: those named, all, or the first of the list. */
export const selectHosts = async (client: Client, { host: names = [], all }: HostOptions): Promise<HostEntry[]> => {
  const { data: hosts } = await client.call('GET /api/v1/hosts')
  const [first] = hosts
  if (!first) throw createUsageError('the server has no hosts; add one on its Hosts page')
  if (all) return hosts
  if (names.length === 0) return [first]
  return [...new Set(names)].map((name) => findHost(hosts, name))
}

/** Returns the one selected host, the first of the list by default. */
export const selectHost = async (client: Client, options: HostOptions): Promise<HostEntry> => {
  const [host, ...more] = await selectHosts(client, options)
  if (!host || more.length > 0) throw createUsageError('this command takes one --host')
  return host
}

const findHost = (hosts: readonly HostEntry[], name: string): HostEntry => {
  const found = hosts.find((each) => each.name === name) ?? hosts.find(({ id }) => String(id) === name)
  if (found) return found
  const known = hosts.map((each) => `"${each.name}"`)
  const shown = known.length > 10 ? [...known.slice(0, 10), `and ${known.length - 10} more`] : known
  throw createUsageError(`unknown host "${name}"; available: ${shown.join(', ')}`)
}

/** The result of one host, or why it failed. */
export type HostResult<T> = { host: HostEntry; value: T } | { host: HostEntry; error: unknown }

/** Requests that run at the same time. More would exceed the rate limit of the server at once. */
const maxParallel = 8

/** Runs a request for each host. The failure of one host does not affect the others. */
export const forEachHost = async <T>(
  hosts: readonly HostEntry[],
  request: (host: HostEntry, index: number) => Promise<T>,
): Promise<HostResult<T>[]> => {
  const results: HostResult<T>[] = []
  const waiting = hosts.entries()
  const worker = async (): Promise<void> => {
    for (const [index, host] of waiting) {
      try {
        results[index] = { host, value: await request(host, index) }
      } catch (error) {
        results[index] = { host, error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(maxParallel, hosts.length) }, worker))
  return results
}

/** Reports the hosts that failed. Throws if all of them did; otherwise returns the exit code. */
export const reportFailedHosts = <T>(results: readonly HostResult<T>[], output: Output): number => {
  const failed = results.flatMap((result) => ('error' in result ? [result] : []))
  const [first] = failed
  if (!first) return 0
  if (failed.length === results.length && results.length === 1) throw first.error
  for (const { host, error } of failed) output.note(formatHostFailure(host, error))
  const codes = new Set(failed.map(({ error }) => toExitCode(error)))
  return codes.size === 1 && failed.length === results.length ? toExitCode(first.error) : 1
}

const formatHostFailure = ({ name }: HostEntry, error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error)
  const id = error instanceof RequestError && error.requestId !== null ? ` (request ${error.requestId})` : ''
  return `${name}: ${message}${id}`
}
