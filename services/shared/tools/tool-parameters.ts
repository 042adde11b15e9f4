import { z } from 'zod'

/** More hosts than this would not fit one list. */
export const lastHostId = 99_999

/** Position of a host in the list, as tools take it. */
export const HostPosition = z.int().min(0).max(lastHostId)

/** Name of a database or a table, as tools take it. */
export const name = (what: string) => z.string().min(1).max(256).describe(what)

/** How many entries a tool tells: `usual` where nobody says. */
export const limitOf = (usual: number, most: number) => z.int().min(1).max(most).default(usual).describe('Most to tell')
