import { expect, it } from 'vitest'
import { keeper, keeperConfig, replicaNames, formatServerConfig, usersConfig } from './cluster-config.ts'
import { formatLocalServerConfig, localUsersConfig } from './local-server-config.ts'

/** Returns the contents of all XML elements with this name. */
const inside = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>(.*?)</${name}>`, 'gs'))].map(([, content]) => content ?? '')

/** Returns the names of XML elements that are not closed or incorrectly nested. */
const unbalanced = (xml: string): string[] => {
  const open: string[] = []
  for (const [, slash, name = ''] of xml.matchAll(/<(\/?)(\w+)[^>]*>/g)) {
    if (slash === '') open.push(name)
    else if (open.at(-1) === name) open.pop()
    else return [...open, `/${name}`]
  }
  return open
}

const machine = formatLocalServerConfig('/somewhere', { http: 1, native: 2, interserver: 3 })

it.each([
  ...replicaNames.map((name) => formatServerConfig(name)),
  usersConfig,
  keeperConfig,
  machine,
  localUsersConfig,
])('is XML of one element', (file) => {
  expect(unbalanced('<a><b></a>')).toEqual(['a', 'b', '/a'])
  expect(unbalanced(file)).toEqual([])
  expect(file).toMatch(/^<clickhouse>.*<\/clickhouse>\n$/s)
})

it('configures each server with the same cluster, the same Keeper and its own name', () => {
  const files = replicaNames.map((name) => formatServerConfig(name))
  expect(new Set(files.flatMap((file) => inside(file, 'remote_servers'))).size).toBe(1)
  for (const [index, file] of files.entries()) {
    expect(inside(inside(file, 'remote_servers')[0] ?? '', 'host')).toEqual(replicaNames)
    expect(inside(inside(file, 'macros')[0] ?? '', 'replica')).toEqual([replicaNames[index]])
    expect(inside(file, 'interserver_http_host')).toEqual([replicaNames[index]])
    expect(inside(inside(file, 'zookeeper')[0] ?? '', 'port')).toEqual([String(keeper.port)])
  }
  expect(inside(keeperConfig, 'tcp_port')).toEqual([String(keeper.port)])
  expect(inside(keeperConfig, 'hostname')).toEqual([keeper.name])
})
