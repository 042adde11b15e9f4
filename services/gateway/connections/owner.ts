import { hash, randomBytes } from 'node:crypto'
import type { Identity } from '#proto/call.ts'

const idBytes = 16
const ownerLength = 22

/** Whose connections they are. People own the same ones whether they come with a session or with a key. */
export const ownerOf = ({ kind, subject }: Identity): string => {
  const who = kind === 'user' || kind === 'key' ? 'person' : kind
  return hash('sha256', JSON.stringify([who, subject]), 'base64url').slice(0, ownerLength)
}

/** Nobody guesses it, and it is never used again. */
export const newConnectionId = (): string => randomBytes(idBytes).toString('base64url')

/** What every cache, pool and queue knows a connection by; keys of configured hosts never begin so. */
export const connectionKey = (owner: string, id: string): string => `user:${owner}:${id}`
