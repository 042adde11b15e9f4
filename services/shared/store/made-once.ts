import type { z } from 'zod'
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
