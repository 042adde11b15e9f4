import { expect, it } from 'vitest'
import type { CallContext } from '#proto/call.ts'
import { openConversationQueue, readAgentRequest } from './read-agent-request.ts'

const call: CallContext = {
  identity: { kind: 'anonymous', subject: 'anonymous', features: 'all' },
  deadline: performance.now() + 60_000,
  signal: new AbortController().signal,
  priority: 'person',
}
const type = { 'content-type': 'application/json' }
const readBody = async () => Buffer.from('{"message":"Is it well?"}')

it('a long conversation waits while sixteen others are received; a short one does not', async () => {
  const conversationBodies = openConversationQueue()
  const read = (headers: Record<string, string>) =>
    readAgentRequest({ headers: { ...type, ...headers }, call, readBody }, { env: {}, conversationBodies })
  const others = Array.from({ length: 16 }, () => conversationBodies.tryEnter('person', 16))
  const waiting = [
    read({ 'content-length': '1000000' }),
    read({ 'transfer-encoding': 'chunked' }),
    read({ 'content-length': '100', 'content-encoding': 'gzip' }),
  ]
  expect(conversationBodies.waiting).toBe(3)
  expect(await read({ 'content-length': '100' })).toMatchObject({ message: 'Is it well?' })
  for (const leave of others) leave?.()
  expect(await Promise.all(waiting)).toHaveLength(3)
  expect(conversationBodies.running).toBe(0)
})
