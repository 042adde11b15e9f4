import { describe, expect, it } from 'vitest'
import { maskSecrets, maskSetting } from './mask-secrets.ts'

describe('a statement', () => {
  it.each([
    ["ENGINE = MySQL('db:3306', 'shop', 'orders', 'watch', 'x') COMMENT 'mysql://watch:hunter2@db/shop'", 'hunter2'],
    ["CREATE USER ada IDENTIFIED BY 'hunter2'", 'hunter2'],
    ["CREATE USER ada IDENTIFIED WITH sha256_password BY 'hunter2'", 'hunter2'],
    ["SOURCE(CLICKHOUSE(HOST 'h' USER 'u' PASSWORD 'hunter2' DB 'd'))", 'hunter2'],
    ["ENGINE = S3('https://bucket/path', 'AKIA', 'hunter2', 'CSV')", 'hunter2'],
    ["SETTINGS kafka_sasl_password = 'hunter2'", 'hunter2'],
    ["disk(type = s3, secret_access_key = 'hunter2', access_key_id = 'AKIA')", 'hunter2'],
    ['COMMENT \'{"token": "hunter2"}\'', 'hunter2'],
  ])('loses its secret: %s', (statement, secret) => {
    expect(maskSecrets(statement)).not.toContain(secret)
    expect(maskSecrets(statement)).toContain('[HIDDEN]')
  })

  it('without secrets stays the same', () => {
    const statement =
      "CREATE TABLE shop.keys (`key` String DEFAULT 'a', `api` String) ENGINE = MergeTree ORDER BY key COMMENT 'a:b@c'"
    expect(maskSecrets(statement)).toBe(statement)
  })
})

it('a setting with a secret name is masked', () => {
  expect(maskSetting('s3_secret_key', 'hunter2')).toBe('[HIDDEN]')
  expect(maskSetting('max_threads', '8')).toBe('8')
  expect(maskSetting('proxy', 'http://u:hunter2@proxy')).toBe('http://[HIDDEN]@proxy')
})
