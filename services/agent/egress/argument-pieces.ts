import type { z } from 'zod'
import type { EgressArgument } from '#proto/agent-parts.ts'
import type { TextSpan } from './host-text.ts'

/** The arguments of a call for display, and whether they contain text that was read from a host. */
interface ArgumentPieces {
  arguments: z.input<typeof EgressArgument>[]
  hasHostText: boolean
}

/**
 * Returns every argument in full, split at the boundaries of host text. Names that the schema of the tool declares do
 * not count as host text, because they come from the external server.
 */
export const splitArguments = (
  input: Readonly<Record<string, unknown>>,
  schema: unknown,
  find: (texts: readonly string[]) => readonly (readonly TextSpan[])[],
): ArgumentPieces => {
  const declared = collectDeclaredNames(schema)
  const leaves = listLeaves(input, declared)
  const values = find(leaves.map(({ value }) => value))
  const names = find(leaves.map(({ name, isDeclared }) => (isDeclared ? '' : name)))
  return {
    arguments: leaves.map(({ name, value }, index) => ({
      name: splitAtSpans(name, names[index] ?? []),
      value: splitAtSpans(value, values[index] ?? []),
    })),
    hasHostText: [...values, ...names].some((spans) => spans.length > 0),
  }
}

/** The path of a value, such as `formats.0`, and whether the schema declares every name in the path. */
interface Path {
  name: string
  isDeclared: boolean
}

/** Returns every scalar value, empty list and empty object with its path. */
const listLeaves = (parent: object, declared: ReadonlySet<string>, path?: Path): (Path & { value: string })[] =>
  Object.entries(parent).flatMap(([key, value]) => {
    const isDeclared = Array.isArray(parent) || declared.has(key)
    const own = path
      ? { name: `${path.name}.${key}`, isDeclared: path.isDeclared && isDeclared }
      : { name: key, isDeclared }
    if (typeof value === 'string') return [{ ...own, value }]
    if (typeof value === 'object' && value !== null && Object.keys(value).length > 0)
      return listLeaves(value, declared, own)
    return [{ ...own, value: JSON.stringify(value) ?? 'null' }]
  })

/** Returns the names of all properties of a schema, nested ones included. */
const collectDeclaredNames = (schema: unknown): Set<string> => {
  if (typeof schema !== 'object' || schema === null) return new Set()
  const properties = 'properties' in schema ? schema.properties : undefined
  const own = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return new Set([...own, ...Object.values(schema).flatMap((each) => [...collectDeclaredNames(each)])])
}

const splitAtSpans = (text: string, spans: readonly TextSpan[]): z.input<typeof EgressArgument>['name'] => {
  let from = 0
  const pieces = spans.flatMap(({ start, end }) => {
    const both = [
      { text: text.slice(from, start), isFromHost: false },
      { text: text.slice(start, end), isFromHost: true },
    ]
    from = end
    return both
  })
  return [...pieces, { text: text.slice(from), isFromHost: false }]
    .filter((piece) => piece.text !== '')
    .map(({ text: piece, isFromHost }) => ({ text: escapeInvisible(piece), isFromHost }))
}

/** Escapes invisible and bidirectional control characters, since they may hide data. */
const escapeInvisible = (text: string): string =>
  text.replaceAll(
    /(?![\n ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
