import { type Command, Option } from 'commander'
import type { RouteData } from '#proto/http/route.ts'
import type { Client } from '../client/client.ts'
import { RequestError } from '../client/failure.ts'
import { createUsageError, exitCodes, toExitCode } from './exit-codes.ts'
import type { Output } from './output/output.ts'

/** A monitored host. */
export type HostEntry = RouteData<'GET /api/v1/hosts'>[number]

/** Options that select hosts. */
export interface HostOptions {
  host?: string[]
  all?: boolean
  group?: string
  tag?: string
}

const collect = (value: string, previous: string[] = []): string[] => [...previous, value]

/** Returns the option for one host. */
export const hostOption = (): Option => new Option('--host <name>', 'name or id of the host').argParser(collect)

/** Returns the option for all hosts. */
export const allOption = (): Option => new Option('--all', 'all hosts').conflicts('host')

/** Adds the options for one or several hosts. */
export const addHostsOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--host <names>', 'names or ids of hosts, separated by commas; can be repeated').argParser(collect),
    )
    .addOption(new Option('--group <name>', 'all hosts of a group').conflicts(['host', 'all']))
    .addOption(new Option('--tag <name>', 'all hosts with a tag').conflicts(['host', 'all']))
    .addOption(allOption())

/** Returns whether the options name a set of hosts, which can contain one or several. */
export const isHostSet = ({ all, group, tag }: HostOptions): boolean =>
  all === true || group !== undefined || tag !== undefined

/** Returns the selected hosts: those named, those of a group or with a tag, all, or the first of the list. */
export const selectHosts = async (client: Client, options: HostOptions): Promise<HostEntry[]> => {
  const { host: names = [], group, tag } = options
  const { data: hosts } = await client.call('GET /api/v1/hosts')
  const [first] = hosts
  if (!first) throw createUsageError('the server has no hosts; add one on its Hosts page')
  if (isHostSet(options))
    return requireHosts(
      hosts.filter(
        (host) =>
          (group === undefined || host.group === group) &&
          (tag === undefined || host.tags.some((each) => each === tag)),
      ),
      hosts,
      options,
    )
  if (names.length === 0) return [first]
  return [...new Set(names.flatMap((name) => splitNames(hosts, name)).map((name) => findHost(hosts, name)))]
}

/** Splits names at commas, unless a host has this name. */
const splitNames = (hosts: readonly HostEntry[], text: string): string[] =>
  hosts.some(({ name }) => name === text) ? [text] : text.split(',').map((name) => name.trim())

const requireHosts = (
  found: readonly HostEntry[],
  hosts: readonly HostEntry[],
  { group, tag }: HostOptions,
): HostEntry[] => {
  if (found.length > 0) return [...found]
  const wanted = [
    ...(group === undefined ? [] : [`group "${group}"`]),
    ...(tag === undefined ? [] : [`tag "${tag}"`]),
  ].join(' and ')
  const groups = formatNames(hosts.flatMap((host) => host.group ?? []))
  const tags = formatNames(hosts.flatMap((host) => host.tags))
  throw createUsageError(`no host has ${wanted}; groups: ${groups}; tags: ${tags}`)
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
  throw createUsageError(`unknown host "${name}"; available: ${formatNames(hosts.map((each) => each.name))}`)
}

const maxNames = 10

const formatNames = (names: readonly string[]): string => {
  const known = [...new Set(names)].map((name) => `"${name}"`)
  const shown = known.length > maxNames ? [...known.slice(0, maxNames), `and ${known.length - maxNames} more`] : known
  return shown.length === 0 ? 'none' : shown.join(', ')
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
  if (failed.length < results.length) return exitCodes.partial
  return codes.size === 1 ? toExitCode(first.error) : exitCodes.failed
}

const formatHostFailure = ({ name }: HostEntry, error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error)
  const id = error instanceof RequestError && error.requestId !== null ? ` (request ${error.requestId})` : ''
  return `${name}: ${message}${id}`
}
