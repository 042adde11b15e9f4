import { expect, it } from 'vitest'
import { createClient } from '../client/client.ts'
import { selectHosts, type HostEntry, type HostOptions } from './hosts.ts'

const createHost = (id: number, name: string, group: string | null, tags: string[]) => ({ id, name, group, tags })

const client = createClient({
  url: 'http://localhost',
  fetch: async () =>
    Response.json({
      data: [
        createHost(0, 'one', 'eu', ['prod']),
        createHost(1, 'two', 'eu', ['test']),
        createHost(2, 'a,b', null, ['prod']),
      ],
      metadata: {},
    }),
})
const select = async (options: HostOptions) => (await selectHosts(client, options)).map(({ name }: HostEntry) => name)

it.each<[HostOptions, string[]]>([
  [{}, ['one']],
  [{ all: true }, ['one', 'two', 'a,b']],
  [{ host: ['two,0'] }, ['two', 'one']],
  [{ host: ['two', 'one, two'] }, ['two', 'one']],
  // A name that contains a comma is one host.
  [{ host: ['a,b'] }, ['a,b']],
  [{ group: 'eu' }, ['one', 'two']],
  [{ tag: 'prod' }, ['one', 'a,b']],
  [{ group: 'eu', tag: 'prod' }, ['one']],
])('%j selects %j', async (options, expected) => {
  expect(await select(options)).toEqual(expected)
})

it.each<[HostOptions, string]>([
  [{ host: ['one,three'] }, 'unknown host "three"; available: "one", "two", "a,b"'],
  [{ tag: 'x' }, 'no host has tag "x"; groups: "eu"; tags: "prod", "test"'],
  [{ group: 'us', tag: 'x' }, 'no host has group "us" and tag "x"; groups: "eu"; tags: "prod", "test"'],
])('%j is rejected', async (options, message) => {
  await expect(select(options)).rejects.toThrow(message)
})
