import { z } from 'zod'

/** Schema of the names between braces in a path. */
export const pathParameters = (path: string): { path?: z.ZodObject } => {
  const names = [...path.matchAll(/\{(?<name>\w+)\}/g)].flatMap(({ groups }) => groups?.name ?? [])
  if (names.length === 0) return {}
  return { path: z.object(Object.fromEntries(names.map((name) => [name, segment]))) }
}

const segment = z.string().min(1).max(512)
