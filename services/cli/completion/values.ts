import { type Client, createClient } from '../../client/client.ts'
import { type CommandContext, resolveServer } from '../context.ts'
import type { Command } from 'commander'

/** A word that can be completed. */
export interface Candidate {
  value: string
  description: string
}

/** The place of a value: that of an option with its long name, or that of an argument with its name in brackets. */
interface Place {
  command: string
  name: string
  /** The words of the command before the value. */
  before: readonly string[]
}

/** A completion must not take longer, because the user waits for it. */
const timeoutMs = 2_000

type ReadValues = (client: Client, place: Place) => Promise<Candidate[]>

/** Options and arguments whose values are files. */
const filePlaces: ReadonlySet<string> = new Set(['query --file', 'apply [folder]', 'check-config [folder]'])

export const isFilePlace = ({ command, name }: Place): boolean => filePlaces.has(`${command} ${name}`)

/**
 * Returns the values that the server knows for an option or an argument; none for others, and if the server does not
 * respond.
 */
export const loadValues = async (context: CommandContext, program: Command, place: Place): Promise<Candidate[]> => {
  const read = readers[place.name] ?? readers[`${place.command} ${place.name}`]
  if (!read) return []
  try {
    const { url, apiKey } = resolveServer(context, program)
    return await read(createClient({ url, apiKey, timeoutMs, retry: { maxRetries: 0 }, signal: context.signal }), place)
  } catch {
    // A message would destroy the command line that the user edits.
    return []
  }
}

const readHosts: ReadValues = async (client) =>
  (await client.call('GET /api/v1/hosts')).data.map(({ name, host }) => ({ value: name, description: host }))

const readLabels =
  (label: 'groups' | 'tags'): ReadValues =>
  async (client) => {
    const { data } = await client.call('GET /api/v1/hosts')
    const found = data.flatMap(({ group, tags }) => (label === 'tags' ? tags : (group ?? [])))
    return [...new Set(found)].toSorted().map((value) => ({ value, description: '' }))
  }

const readCharts: ReadValues = async (client) =>
  (await client.call('GET /api/v1/catalogue')).data.charts.map(toCandidate)

const readPages: ReadValues = async (client) =>
  (await client.call('GET /api/v1/catalogue')).data.tables.map(toCandidate)

const toCandidate = ({ name, title }: { name: string; title: string }): Candidate => ({
  value: name,
  description: title,
})

/** Returns the columns of the table page among the words, each with what follows its name. */
const readColumns =
  (...endings: readonly string[]): ReadValues =>
  async (client, { before }) => {
    const { tables } = (await client.call('GET /api/v1/catalogue')).data
    const page = tables.find(({ name }) => before.includes(name))
    return (page?.columns ?? []).flatMap(({ name, label }) =>
      endings.map((ending) => ({ value: `${name}${ending}`, description: label ?? '' })),
    )
  }

const readRules: ReadValues = async (client) => {
  const { data } = await client.call('GET /api/v1/health/alert-state')
  const titles = new Map(data.map(({ ruleId, title }) => [ruleId, title]))
  return [...titles].map(([value, description]) => ({ value, description }))
}

/** Readers by option, or by command and argument. */
const readers: Readonly<Record<string, ReadValues>> = {
  '--host': readHosts,
  '--group': readLabels('groups'),
  '--tag': readLabels('tags'),
  'charts [names]': readCharts,
  'tables [page]': readPages,
  'tables --sort': readColumns('.asc', '.desc'),
  'tables --filter': readColumns('.eq.'),
  'ack [rule]': readRules,
  'silence [rule]': readRules,
  'diagnose [rule]': readRules,
}
