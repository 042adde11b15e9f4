import { describe, expect, it } from 'vitest'
import { isCrossSiteWrite } from './cookies.ts'

const host = 'watch.example.com'

describe('a write with credentials that a browser adds by itself', () => {
  it.each<[boolean, string, Record<string, string>]>([
    [false, 'GET', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    [false, 'HEAD', { origin: 'https://evil.example' }],
    [false, 'OPTIONS', { origin: 'https://evil.example' }],
    [false, 'POST', {}],
    [false, 'POST', { 'sec-fetch-site': 'same-origin' }],
    [false, 'POST', { 'sec-fetch-site': 'none' }],
    [true, 'POST', { 'sec-fetch-site': 'cross-site' }],
    [true, 'POST', { 'sec-fetch-site': 'same-site', origin: 'https://blog.example.com' }],
    [true, 'DELETE', { 'sec-fetch-site': 'made-up' }],
    [false, 'POST', { origin: 'http://watch.example.com' }],
    [true, 'POST', { origin: 'http://watch.example.com:8080' }],
    [true, 'PUT', { origin: 'https://evil.example' }],
    [true, 'POST', { origin: 'null' }],
    [true, 'POST', { origin: 'https://watch.example.com.evil.example' }],
    [false, 'POST', { origin: 'https://public.example.com' }],
    [false, 'POST', { origin: 'https://public.example.com', 'sec-fetch-site': 'cross-site' }],
    [true, 'POST', { origin: 'https://public.example.com:444' }],
  ])('is cross-site: %s, for %s with %j', (isForeign, method, headers) => {
    expect(isCrossSiteWrite({ method, headers: { host, ...headers } }, () => 'https://public.example.com/watch')).toBe(
      isForeign,
    )
  })
})
