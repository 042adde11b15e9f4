import { hash } from 'node:crypto'
import { ServiceError } from '#proto/errors.ts'
import type { ThreadClient, ThreadList, ThreadPage } from '#shared/convstore/client.ts'

/** Characters of a tag, as the service documents. */
const longestTag = 64
/** How the threads of an owner are tagged; undefined for a name that is too long for it. */
const tagOf = (owner: string): string | undefined => {
  const tag = `user:${owner}`
  return tag.length <= longestTag ? tag : undefined
}
/** Stands in where the service takes no colon, or the name is too long. */
const plainTagOf = (owner: string): string => `user-${hash('sha256', owner).slice(0, 32)}`
/** Begins the cursors of lists by plain tags; those of the service itself go on as they are. */
const plainMark = '~'

/** Tags a thread with its owner, in the way that the service takes; fails when it takes none. */
export const tagWith = async (threads: ThreadClient, id: string, owner: string): Promise<void> => {
  for (const tag of [tagOf(owner), plainTagOf(owner)]) if (tag !== undefined && (await threads.tag(id, tag))) return
  throw new ServiceError('unavailable', 'the conversation service takes no tag')
}

/**
 * A page of the threads of an owner. Where there is none under the usual tag the plain one is looked at: so nothing has to be remembered of
 * what the service takes.
 */
export const listOf = async (
  threads: ThreadClient,
  owner: string,
  { limit, cursor }: Pick<ThreadList, 'limit' | 'cursor'>,
): Promise<ThreadPage> => {
  const tag = tagOf(owner)
  const isPlain = cursor?.startsWith(plainMark) ?? false
  if (tag !== undefined && !isPlain) {
    const page = await threads.list({ tag, limit, cursor })
    if (cursor !== undefined || page.data.length > 0) return page
  }
  const after = isPlain ? cursor?.slice(plainMark.length) : undefined
  const { data, pagination } = await threads.list({ tag: plainTagOf(owner), limit, cursor: after })
  const next = pagination.next_cursor
  return { data, pagination: { next_cursor: next === null ? null : `${plainMark}${next}` } }
}
