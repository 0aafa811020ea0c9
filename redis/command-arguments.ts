/**
 * How many arguments the commands of scripts take at least. Redis 7.2 and newer refuse a question about the rights of a
 * command that has fewer (`acl_check_cmd`).
 */
export const argumentsMin: Readonly<Record<string, number>> = {
  DEL: 1,
  EXISTS: 1,
  GET: 1,
  GETRANGE: 3,
  HDEL: 2,
  HGET: 2,
  HINCRBY: 3,
  HMGET: 2,
  HSET: 3,
  HSETNX: 3,
  LINDEX: 2,
  LLEN: 1,
  LPOP: 1,
  PEXPIRE: 2,
  PTTL: 1,
  PUBLISH: 2,
  RPOP: 1,
  RPUSH: 2,
  SET: 2,
  TIME: 0,
  XACK: 3,
  XADD: 4,
  XDEL: 2,
  'XGROUP DELCONSUMER': 3,
  XPENDING: 2,
  ZADD: 3,
  ZCARD: 1,
  ZCOUNT: 3,
  ZRANGE: 3,
  ZRANGEBYSCORE: 3,
  ZREM: 2,
  ZREMRANGEBYRANK: 3,
  ZREMRANGEBYSCORE: 3
}
