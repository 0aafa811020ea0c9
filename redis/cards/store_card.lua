-- Stores a card under the token that it came with: all of it, or nothing. The same token again gives the first card.
--
-- keys.token         string   id of the card that the token became
-- keys.card          string   record of the new card
-- given.cardId, given.record   the new card
-- given.rememberMs             how long the token is known to have given this card
--
-- Returns {card id, 1 if it is new, else 0}.
local known = redis.call('GET', keys.token)
if known then
  return { known, 0 }
end
redis.call('SET', keys.card, given.record)
redis.call('SET', keys.token, given.cardId, 'PX', given.rememberMs)
return { given.cardId, 1 }
