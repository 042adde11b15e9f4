import { expect, it } from 'vitest'
import { normalizeHttpUrl, resolveLink } from './links.ts'

const origin = 'http://watch.example:3000'
const evil = { address: 'http://evil.example/' }
it.each([
  ['/overview', { path: '/overview' }],
  ['/tables/parts?sort=rows.desc', { path: '/tables/parts?sort=rows.desc' }],
  ['overview', { path: '/overview' }],
  ['/./a/../overview', { path: '/overview' }],
  ['http://watch.example:3000/overview', { path: '/overview' }],
  ['https://clickhouse.com/docs', { address: 'https://clickhouse.com/docs' }],
  ['http://watch.example/overview', { address: 'http://watch.example/overview' }],
  ['http://watch.example:3000@evil.example', { address: 'http://watch.example:3000@evil.example/' }],
  ['//evil.example', evil],
  ['/\\evil.example', evil],
  ['\\\\evil.example', evil],
  ['\\/evil.example', evil],
  ['/\t/evil.example', evil],
  ['/\n\\evil.example', evil],
  ['\t//evil.example', evil],
  [' //evil.example', evil],
  ['http:\\\\evil.example', evil],
  ['http:/overview', { path: '/overview' }],
  ['/.//evil.example', null],
  ['/a/..//evil.example', null],
  ['/.\\\\evil.example', null],
  ['/%2e//evil.example', null],
  ['javascript:alert(1)', null],
  ['java\nscript:alert(1)', null],
  ['data:text/html,x', null],
  ['blob:http://watch.example:3000/x', null],
  ['http://[', null],
])('resolves the link %j to %j', (href, link) => {
  expect(resolveLink(href, origin)).toEqual(link)
})

it.each([
  ['https://grafana.example/d/1?x=1', 'https://grafana.example/d/1?x=1'],
  ['HTTP://grafana.example', 'http://grafana.example/'],
  ['/d/1', undefined],
  ['//evil.example', undefined],
  ['javascript:alert(1)', undefined],
  ['java\nscript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['', undefined],
  [null, undefined],
])('resolves the address %j to %j', (given, address) => {
  expect(normalizeHttpUrl(given)).toBe(address)
})
