import { describe, expect, it } from 'vitest'
import { maskSecrets, reviveResponseValue } from './client.ts'
import { maskLiterals } from './endpoints.ts'

const secret = 'hunter2'

describe('secrets within a line', () => {
  it.each([
    `postgres://me:${secret}@db:5432/shop`,
    `failed: host=db user=me password=${secret} dbname=shop`,
    `failed: sslpassword='a ${secret}' x`,
    `{"host":"db","password":"${secret} \\" ${secret}"}`,
    `{\\"secretAccessKey\\": ${secret}}`,
    `{\\"password\\": \\"a ${secret}\\"}`,
    `AWS_SECRET_ACCESS_KEY=${secret}`,
    `access_token: ${secret}`,
    `https://s3/bucket?X-Amz-Signature=${secret}&a=b`,
    `CREATE USER x IDENTIFIED WITH sha256_password BY '${secret}'`,
    `CREATE USER x IDENTIFIED BY '${secret}'`,
    `Authorization: Basic ${secret}`,
    `authorization: Bearer ${secret}`,
    `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n-----END RSA PRIVATE KEY-----`,
    `-----BEGIN PRIVATE KEY-----\n${secret}`,
  ])('are hidden: %s', (line) => {
    expect(maskSecrets(line)).not.toContain(secret)
    expect(maskSecrets(line)).toContain('[hidden]')
  })

  it.each([
    'duplicate key value violates unique constraint "orders_pkey"',
    'tokenizer=ngram',
    'mirror orders: 12 rows',
  ])('are not found in: %s', (line) => expect(maskSecrets(line)).toBe(line))
})

it('are found in lines of any length', () => {
  const line = `${'a-'.repeat(1_000_000)} password=${secret}`
  expect(maskSecrets(line)).toHaveLength(8_192)
})

describe('a parsed response', () => {
  it.each([
    ['{"batchId":"168729","startTime":"5"}', { batchId: 168_729, startTime: '5' }],
    ['{"lagInMb":"NaN"}', { lagInMb: null }],
    ['{"password":"x","secret":""}', { password: '[hidden]', secret: '' }],
    ['{"name":"API_TOKEN","value":"x"}', { name: 'API_TOKEN', value: '[hidden]', defaultValue: '[hidden]' }],
    ['{"name":"SIZE","value":"7"}', { name: 'SIZE', value: '7' }],
  ])('%s', (json, expected) => expect(JSON.parse(json, reviveResponseValue)).toEqual(expected))
})

describe('a statement without its literals', () => {
  it.each([
    ["SELECT * FROM t1 WHERE a = 'it''s' AND b = 12.5", 'SELECT * FROM t1 WHERE a = ? AND b = ?'],
    ["SELECT E'a\\'b', $1, $$secret$$ -- secret", 'SELECT ?, $1, ? ?'],
    ["SELECT 'unfinished", 'SELECT ?'],
    ['COPY /* secret */ t TO STDOUT', 'COPY ? t TO STDOUT'],
  ])('%s', (statement, expected) => expect(maskLiterals(statement)).toBe(expected))
})
