import { describe, expect, it } from 'vitest'
import { validateHostList } from '../hosts/host-list.ts'
import { parseException, toResponseError, findClickhouseErrorCode, findFailureReason } from './failure.ts'

const [host] = validateHostList('COLUMNDB_HOST', [
  { url: 'http://secret-host:8123', label: 'db', user: 'spy', password: 'pw' },
]).hosts
if (!host) throw new Error('invalid host entry in test data')

describe('an exception', () => {
  it.each([
    [
      'Code: 60. DB::Exception: Table system.x does not exist. (UNKNOWN_TABLE) (version 24.3.1.1 (official build))\n',
      { code: 60, name: 'UNKNOWN_TABLE', sentence: 'Table system.x does not exist.' },
    ],
    [
      'Code: 241. DB::Exception: Memory limit exceeded: would use 1 GiB. (MEMORY_LIMIT_EXCEEDED)',
      { code: 241, name: 'MEMORY_LIMIT_EXCEEDED', sentence: 'Memory limit exceeded: would use 1 GiB.' },
    ],
    [
      'Code: 999. Coordination::Exception: Coordination error: Connection loss, path /ddl. (KEEPER_EXCEPTION) (version 25.8.2.1)',
      { code: 999, name: 'KEEPER_EXCEPTION', sentence: 'Coordination error: Connection loss, path /ddl.' },
    ],
    ['Code: 159, e.displayText() = anything', undefined],
    [
      '{"a":1}\nCode: 395. DB::Exception: Value passed to throwIf: while executing. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)',
      { code: 395, name: 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO', sentence: 'Value passed to throwIf: while executing.' },
    ],
    [
      'Code: 62. DB::Exception: Syntax error: failed at position 8 (TABLE) (line 1, col 8): TABLE x. (SYNTAX_ERROR) (version 26.7.2.1)',
      {
        code: 62,
        name: 'SYNTAX_ERROR',
        sentence: 'Syntax error: failed at position 8 (TABLE) (line 1, col 8): TABLE x.',
      },
    ],
    [
      'Poco::Exception. Code: 1000, e.code() = 111, Connection refused (version 26.7.2.1)\n',
      { code: 1000, name: 'POCO_EXCEPTION', sentence: 'e.code() = 111, Connection refused' },
    ],
    [
      'std::exception. Code: 1001, type: std::bad_alloc, e.what() = std::bad_alloc (version 23.8.1.1)',
      { code: 1001, name: 'STD_EXCEPTION', sentence: 'type: std::bad_alloc, e.what() = std::bad_alloc' },
    ],
    [
      'Code: 117. DB::Exception: Expected end of line: (in file/uri http://bob:p@ss@files:80/x): While executing URL. (INCORRECT_DATA)',
      {
        code: 117,
        name: 'INCORRECT_DATA',
        sentence: 'Expected end of line: (in file/uri http://files:80/x): While executing URL.',
      },
    ],
    [
      '{\n\t"meta":\n\t[\n\t],\n\n\t"rows": 0,\n\n\t"exception": "Code: 115. DB::Exception: Unknown setting \\"pretty\\" in C:\\\\a\\nfor EXPLAIN. (UNKNOWN_SETTING) (version 24.8.4.1)"\n}\n',
      { code: 115, name: 'UNKNOWN_SETTING', sentence: 'Unknown setting "pretty" in C:\\a\nfor EXPLAIN.' },
    ],
    [
      '{"exception": "\\z Code: 60. DB::Exception: Gone. (UNKNOWN_TABLE)"}',
      { code: 60, name: 'UNKNOWN_TABLE', sentence: 'Gone.' },
    ],
    ['<html>nginx</html>', undefined],
  ])('is parsed from %j', (text, exception) => {
    expect(parseException(text)).toEqual(exception)
  })

  it('is truncated to 500 characters', () => {
    expect(parseException(`Code: 62. DB::Exception: ${'x'.repeat(2_000)} (SYNTAX_ERROR)`)?.sentence).toHaveLength(500)
  })
})

describe('a failed statement', () => {
  it.each([
    [62, 'invalid'],
    [60, 'invalid'],
    [159, 'timeout'],
    [202, 'busy'],
    [241, 'unavailable'],
    [497, 'forbidden'],
    [279, 'unavailable'],
    [999, 'unavailable'],
  ])('with code %i is %s', (code, kind) => {
    const error = toResponseError(host, 500, `Code: ${code}. DB::Exception: Something. (SOME_NAME)`)
    expect(error).toMatchObject({
      code: kind,
      details: { host: 'db', clickhouseCode: code, clickhouseName: 'SOME_NAME' },
    })
    expect(findClickhouseErrorCode(error)).toBe(code)
    expect(findFailureReason(error)).toBeUndefined()
  })

  it.each([
    [
      403,
      'Code: 516. DB::Exception: spy: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)',
      'refused',
    ],
    [401, 'nope', 'refused'],
    [502, '<html>Bad gateway</html>', 'garbage'],
    [302, '', 'garbage'],
  ])('with status %i and %j is unavailable', (status, text, reason) => {
    expect(toResponseError(host, status, text)).toMatchObject({ code: 'unavailable', details: { host: 'db', reason } })
  })

  it.each([
    ['Coordination error: Connection loss, path /clickhouse.', 'its Keeper does not respond: '],
    ['Coordination error: No node, path /clickhouse.', ''],
  ])('reports an unreachable Keeper: %s', (sentence, prefix) => {
    const { message } = toResponseError(host, 500, `Code: 999. DB::Exception: ${sentence} (KEEPER_EXCEPTION)`)
    expect(message).toBe(`host db: ${prefix}${sentence} (999 KEEPER_EXCEPTION)`)
  })

  it('contains neither address nor user nor password', () => {
    const denied = toResponseError(
      host,
      403,
      'Code: 497. DB::Exception: spy: Not enough privileges. To execute this query, it is necessary to have the grant SELECT(a) ON system.x. (ACCESS_DENIED)',
    )
    expect(denied.message).toBe(
      'host db: Not enough privileges. To execute this query, it is necessary to have the grant SELECT(a) ON system.x. (497 ACCESS_DENIED)',
    )
    for (const error of [
      denied,
      toResponseError(host, 403, 'Code: 516. DB::Exception: spy: no. (AUTHENTICATION_FAILED)'),
    ]) {
      expect(JSON.stringify([error.message, error.details])).not.toMatch(/spy|secret-host|pw/)
    }
  })
})
