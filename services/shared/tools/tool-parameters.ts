import { z } from 'zod'

/** More hosts than this would not fit one list. */
export const lastHostId = 99_999

/** Position of a host in the list, as tools take it. */
const HostPosition = z.int().min(0).max(lastHostId)

/** The parameter of tools that read one host. */
export const ofHost = { hostId: HostPosition.optional().describe('Which host, from 0').meta({ default: 0 }) }

/** The parameter of tools that compare hosts. */
export const ofHosts = {
  hostIds: z.array(HostPosition).min(2).max(16).describe('Positions in the list of hosts'),
}

/** Name of a database or a table, as tools take it. */
export const name = (what: string) => z.string().min(1).max(256).describe(what)

/** A statement that a model writes. */
export const sql = z.string().min(1).max(100_000).describe('The statement, without FORMAT')

/** Returns the parameter for the maximum number of entries; `usual` by default. */
export const limitOf = (usual: number, most: number) =>
  z.int().min(1).max(most).default(usual).describe('Maximum number of entries')

/** How far a tool looks back, in hours. */
export const lastHours = (usual: number) => z.int().min(1).max(720).default(usual).describe('How far to look back')
