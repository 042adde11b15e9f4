import { z } from 'zod'

/** Maximum position of a host in the list. */
export const maxHostPosition = 99_999

/** Position of a host in the list, as a tool parameter. */
const HostPosition = z.int().min(0).max(maxHostPosition)

/** The input field of tools that read one host. */
export const hostParameter = { hostId: HostPosition.optional().describe('Which host, from 0').meta({ default: 0 }) }

/** The input field of tools that read all hosts by default. */
export const onlyHostParameter = { hostId: HostPosition.optional().describe('Only this host') }

/** The input field of tools that compare hosts. */
export const hostsParameter = {
  hostIds: z.array(HostPosition).min(2).max(16).describe('Positions in the list of hosts'),
}

/** Returns the parameter for the name of a database or a table. */
export const createNameParameter = (what: string) => z.string().min(1).max(256).describe(what)

/** The input field of tools that return text, with which a client requests the structured content too. */
export const structuredParameter = { structured: z.boolean().optional().describe('Also return structuredContent') }

/** The parameter for an SQL statement. */
export const sqlParameter = z.string().min(1).max(100_000).describe('Statement without FORMAT')

/** Returns the parameter for the maximum number of entries, from 1 to `max`; `usual` is the default. */
export const createLimitParameter = (usual: number, max: number) =>
  z.int().min(1).max(max).default(usual).describe('Maximum number of entries')

/** Returns the parameter for the length of the time range in hours; the default is `usual`. */
export const createHoursParameter = (usual: number) =>
  z.int().min(1).max(720).default(usual).describe('Hours to look back')

const timePattern = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(Z|[+-]\d\d:\d\d)?$/

/** Returns the parameter for a time, which is parsed to epoch milliseconds. A time without an offset is in UTC. */
export const createTimeParameter = (what: string) =>
  z
    .string()
    .max(40)
    .describe(what)
    .transform((text, { addIssue }) => {
      const [, offset] = timePattern.exec(text) ?? []
      const ms = timePattern.test(text) ? Date.parse(offset === undefined && text.length > 10 ? `${text}Z` : text) : NaN
      if (Number.isNaN(ms)) addIssue({ code: 'custom', message: 'must be an ISO time such as 2026-01-31T08:00:00Z' })
      return ms
    })
