import { describe, expect, it } from 'vitest'
import { type NamedHost, matchHosts } from './topology.ts'

const replica = (host: string, address = '10.0.0.99', isLocal = false) => ({ host, address, isLocal })
const list = (...names: string[][]): NamedHost[] => names.map((each, index) => ({ key: `key${index}`, names: each }))

describe('a replica matches a host of the list', () => {
  it.each([
    ['by its whole name', replica('db1.example.com'), list(['db1.example.com'], ['db2.example.com']), 'key0'],
    ['in any case', replica('DB1.example.com'), list(['db1.EXAMPLE.com']), 'key0'],
    ['by its address', replica('db1', '10.0.0.1'), list(['10.0.0.1']), 'key0'],
    ['by the name it gives itself', replica('shard-0-0'), list(['lb.example.com', 'shard-0-0']), 'key0'],
    ['without its domain', replica('db1'), list(['db1.example.com'], ['db2.example.com']), 'key0'],
    ['without the domain of the cluster', replica('db1.cluster.local'), list(['db1.example.com']), 'key0'],
    ['by its whole name before half of it', replica('db1'), list(['db1.example.com'], ['db1']), 'key1'],
    ['not when several are called so', replica('db1'), list(['db1.eu'], ['db1.us']), null],
    ['not when it is called otherwise', replica('db3'), list(['db1'], ['db2']), null],
    ['not for being everybody', replica('localhost', '127.0.0.1'), list(['localhost'], ['127.0.0.1']), null],
    ['not for half an address', replica('10', '10.0.0.9'), list(['10.0.0.1']), null],
  ])('%s', (_, called, hosts, key) => {
    expect(matchHosts([called], 'queried', hosts)).toEqual([key])
  })

  it('when it is the queried host under any name', () => {
    const replicas = [replica('localhost', '127.0.0.1', true), replica('db2')]
    expect(matchHosts(replicas, 'key0', list(['db1'], ['db2']))).toEqual(['key0', 'key1'])
  })

  it('unless several replicas match the same host', () => {
    const replicas = [replica('db1'), replica('db1')]
    expect(matchHosts(replicas, 'queried', list(['db1']))).toEqual([null, null])
    const [first, second] = replicas
    if (!first || !second) throw new Error('two host names are required')
    expect(matchHosts([{ ...first, isLocal: true }, second], 'key0', list(['db1']))).toEqual(['key0', null])
  })
})
