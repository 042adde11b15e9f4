import { load } from 'js-yaml'
import { z } from 'zod'

/** A key of `values.yaml` with its path, its default, and the comment above it. */
export interface ValueEntry {
  path: readonly string[]
  fallback: unknown
  doc: string
  /** JSON Schema keywords of a comment `@schema {…}`. */
  schema: Readonly<Record<string, unknown>>
}

const Keywords = z.record(z.string(), z.unknown())
const spaces = 2

/** Returns the keys of a values file in order. The file must be indented by two spaces. Keys in braces are left out. */
export const parseValueEntries = (text: string): ValueEntry[] => {
  const values: unknown = load(text)
  const entries: ValueEntry[] = []
  let path: string[] = []
  let comments: string[] = []
  for (const line of text.split('\n')) {
    const comment = /^ *# (.*)$/.exec(line)?.[1]
    const key = /^( *)([\w-]+):/.exec(line)
    if (comment !== undefined) comments.push(comment)
    else if (key) {
      const [, indent = '', name = ''] = key
      path = [...path.slice(0, indent.length / spaces), name]
      entries.push({ path, fallback: readPath(values, path), ...parseComments(comments) })
      comments = []
    } else comments = []
  }
  return entries
}

const parseComments = (comments: readonly string[]): Pick<ValueEntry, 'doc' | 'schema'> => {
  const stated = comments.find((comment) => comment.startsWith('@schema '))
  return {
    doc: comments.filter((comment) => comment !== stated).join(' '),
    schema: stated === undefined ? {} : Keywords.parse(JSON.parse(stated.slice('@schema '.length))),
  }
}

const readPath = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (inner instanceof Object ? Reflect.get(inner, name) : undefined), value)
