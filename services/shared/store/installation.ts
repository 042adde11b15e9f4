import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Store } from './store.ts'

/** Returns the value of a key. If it has none, stores the result of `make`; of concurrent calls, the first one wins. */
export const getOrCreateValue = async <T>(
  store: Store,
  name: string,
  schema: z.ZodType<T, T>,
  make: () => Promise<T>,
): Promise<T> => {
  const present = await store.get(name, schema)
  if (present !== undefined) return present
  const created = await make()
  return (await store.update(name, schema, (current) => ({ value: current ?? created }))) ?? created
}

const key = 'installation:id'
/** Source of a regular expression that matches an installation id. */
export const installationIdPattern = 'watchhouse-[0-9a-f]{16}'
const Id = z.string().regex(new RegExp(`^${installationIdPattern}$`))

/**
 * Returns a function that reads the id of this installation: `watchhouse-` and sixteen hexadecimal digits. The id is
 * not secret and is the same for all services of a store. Outgoing events contain it, so that the installation
 * recognizes its own events. A store in memory loses it at a restart.
 */
export const openInstallationId = (store: Store): (() => Promise<string>) => {
  const fresh = `watchhouse-${randomBytes(8).toString('hex')}`
  let id: string | undefined
  return async () => (id ??= (await store.update(key, Id, (before) => ({ value: before ?? fresh }))) ?? fresh)
}
