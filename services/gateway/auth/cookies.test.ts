import { describe, expect, it } from 'vitest'
import { formatSetCookie, readCookie, isHttpsRequest, formatCookieRemoval } from './cookies.ts'

describe('cookies', () => {
  it('are inaccessible to scripts and other sites', () => {
    const line = formatSetCookie('name', 'value', { maxAgeMs: 90_500, secure: true })
    expect(line).toBe('name=value; Max-Age=90; Path=/; HttpOnly; Secure; SameSite=Lax')
  })

  it('are removed with the same path', () => {
    expect(formatCookieRemoval('name')).toBe('name=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax')
  })

  it.each([
    ['a=1; b=2', '2'],
    ['b=first; b=second', 'first'],
    ['b=', undefined],
    ['c=1', undefined],
    [undefined, undefined],
    ['%%%;;b', undefined],
  ])('are read from %j', (cookie, value) => {
    expect(readCookie(cookie === undefined ? {} : { cookie }, 'b')).toBe(value)
  })

  it.each([
    [false, {}, 'http://watch.example.com'],
    [true, {}, 'https://watch.example.com'],
    [true, { origin: 'https://watch.example.com' }, 'http://watch.example.com'],
    [true, { 'x-forwarded-proto': 'https, http' }, 'http://watch.example.com'],
    [false, { 'x-forwarded-proto': 'http, https' }, 'http://watch.example.com'],
  ])('are for https only: %s, with %j at %s', (secure, headers, publicUrl) => {
    expect(isHttpsRequest(headers, publicUrl)).toBe(secure)
  })
})
