import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Store } from './store.ts'

/** What is under a name in the store; made when there is nothing, by one process for all. */
export const madeOnce = async <T>(
  store: Store,
  name: string,
  schema: z.ZodType<T, T>,
  make: () => Promise<T>,
): Promise<T> => {
  const present = await store.get(name, schema)
  if (present !== undefined) return present
  const made = await make()
  return (await store.update(name, schema, (known) => ({ value: known ?? made }))) ?? made
}

const key = 'installation:id'
/** The pattern of such a name, anywhere in a text. */
export const installationId = 'watchhouse-[0-9a-f]{16}'
const Id = z.string().regex(new RegExp(`^${installationId}$`))

/**
 * The name of this installation, the same for all services that share a store, and no secret: `watchhouse-` and sixteen hexadecimal
 * digits. What goes out carries it, so that what comes back is known. A store in memory forgets it with everything else.
 */
export const openInstallationId = (store: Store): (() => Promise<string>) => {
  const fresh = `watchhouse-${randomBytes(8).toString('hex')}`
  let known: string | undefined
  return async () => (known ??= (await store.update(key, Id, (before) => ({ value: before ?? fresh }))) ?? fresh)
}
