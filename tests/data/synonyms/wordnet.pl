% One.
% Two.
% Three.
% Four.
% Five.
% The Prolog database of WordNet.
s(100001740,1,'car',n,1,71).
s(100001740,2,'motor car',n,1,0).
s(100001740,3,'auto',n,1,3).
s(100001930,1,'car',n,2,2).
s(100001930,2,'railcar',n,1,0).
s(100001930,3,'railway car',n,1,0).
s(200002137,1,'wood',n,1,5).
s(200002500,1,'ne''er',r,1,0).
s(200002500,2,'never; not once',r,1,0).
